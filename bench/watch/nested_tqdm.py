"""Two bars, one in the other, without descriptions; no framework is needed."""

import sys
import time

from tqdm import tqdm, trange

epochs, steps, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for epoch in trange(epochs):
    for step in tqdm(range(steps), leave=False):
        time.sleep(pause)
