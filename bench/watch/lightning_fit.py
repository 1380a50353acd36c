"""Lightning with validation and its own bar."""

import sys
import tempfile

import lightning
import torch
from lightning.pytorch.callbacks import RichProgressBar, TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

epochs, images, bar = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
            nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 10),
        )

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", nn.functional.cross_entropy(self.layers(batch[0]), batch[1]), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


lightning.seed_everything(1)
data = lambda count: TensorDataset(torch.randn(count, 3, 32, 32), torch.randint(10, (count,)))
with tempfile.TemporaryDirectory() as folder:
    trainer = lightning.Trainer(
        max_epochs=epochs, default_root_dir=folder, enable_checkpointing=False, logger=False,
        callbacks=[TQDMProgressBar() if bar == "tqdm" else RichProgressBar()],
    )
    trainer.fit(Classifier(), DataLoader(data(images), 32, shuffle=True), DataLoader(data(images // 4), 32))
