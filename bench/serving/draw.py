"""Draws what the bench sends and trains on, always the same: needs Pillow and NumPy.

    python draw.py FOLDER --classes 1000

    FOLDER/small.jpg      224 × 224: a server has nothing to resize
    FOLDER/small.png      the same pixels: nor a decoder of its own taste
    FOLDER/large.jpg      1600 × 1200, as a camera's small setting
    FOLDER/pictures       a folder of one tiny picture a class, for a model with as many
"""
import argparse
from pathlib import Path

import numpy as np
from PIL import Image

SEED = 20231
QUALITY = 90


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--classes", type=int, required=True)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(SEED)
    small, large = picture(draw, 224, 224), picture(draw, 1600, 1200)
    small.save(asked.folder / "small.png")
    small.save(asked.folder / "small.jpg", quality=QUALITY)
    large.save(asked.folder / "large.jpg", quality=QUALITY)
    for part in ("train", "test"):
        for number in range(asked.classes):
            place = asked.folder / "pictures" / part / f"{number:04}"
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(draw.integers(0, 256, (8, 8, 3), np.uint8)).save(place / "1.png")


def picture(draw, width, height):
    """Noise of every scale, the finer the fainter: photographs are alike in that, and so are their files' sizes."""
    total, weight, side = np.zeros((height, width, 3)), 1.0, 4
    while side < width:
        noise = Image.fromarray(draw.integers(0, 256, (side * height // width, side, 3), np.uint8))
        total += weight * np.asarray(noise.resize((width, height), Image.Resampling.BICUBIC), np.float64)
        weight, side = weight / 1.4, side * 2
    low, high = total.min(), total.max()
    return Image.fromarray(((total - low) / (high - low) * 255).round().astype(np.uint8))


if __name__ == "__main__":
    main()
