"""A loop that prints lines, as tutorials do."""

import sys
import time

import torch
from torch import nn

epochs, steps = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for epoch in range(epochs):
    for i in range(steps):
        images, labels = torch.randn(100, 784), torch.randint(10, (100,))
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (i + 1) % 20 == 0:
            print(f"Epoch [{epoch + 1}/{epochs}], Step [{i + 1}/{steps}], Loss: {loss.item():.4f}", flush=True)
