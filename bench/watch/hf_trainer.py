"""Hugging Face's Trainer on a tiny model with random weights; nothing is downloaded."""

import sys
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

epochs, rows = int(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(1)
config = BertConfig(
    vocab_size=1000, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256
)


class Rows(torch.utils.data.Dataset):
    def __init__(self, count):
        self.ids = torch.randint(1000, (count, 64))
        self.labels = torch.randint(2, (count,))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.labels[i]}


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder, num_train_epochs=epochs, per_device_train_batch_size=16, logging_steps=20,
        eval_strategy="epoch", save_strategy="no", report_to=[],
    )
    Trainer(
        BertForSequenceClassification(config), arguments, train_dataset=Rows(rows), eval_dataset=Rows(rows // 4)
    ).train()
