"""A plain PyTorch loop with tqdm: a bar per epoch, validation behind it."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

epochs, images = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(1)
train = TensorDataset(torch.randn(images, 3, 32, 32), torch.randint(10, (images,)))
held_out = TensorDataset(torch.randn(images // 4, 3, 32, 32), torch.randint(10, (images // 4,)))
model = nn.Sequential(
    nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 10),
)
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()

for epoch in range(epochs):
    model.train()
    bar = tqdm(DataLoader(train, 32, shuffle=True), desc=f"Epoch {epoch + 1}/{epochs}")
    for x, y in bar:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=f"{loss.item():.4f}")
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in tqdm(DataLoader(held_out, 32), desc="Validation", leave=False):
            correct += (model(x).argmax(1) == y).sum().item()
    print(f"validation accuracy: {correct / len(held_out):.3f}")
