"""Gradient descent on a line, emitting events for Bancada: python3 train.py --batch 8"""
import json, os, random, sys, time

events = open(os.environ.get("BANCADA_EVENTS", os.devnull), "a", buffering=1)

def emit(event, **fields):
    print(json.dumps({"event": event, "at": time.time(), **fields}), file=events)

emit("phase", phase="load-data")
batch = int(sys.argv[sys.argv.index("--batch") + 1])
points = [(x, 3 * x + random.gauss(0, 0.01)) for x in (random.random() for _ in range(4096))]
emit("phase", phase="train")
slope = 0.0
for epoch in (1, 2, 3):
    begin = time.time()
    for step in range(len(points) // batch):
        some = points[step * batch:(step + 1) * batch]
        loss = sum((slope * x - y) ** 2 for x, y in some) / batch
        slope -= 0.01 * sum((slope * x - y) * x for x, y in some) / batch
    emit("epoch", epoch=epoch, loss=loss, seconds=time.time() - begin)
emit("phase", phase="shutdown")
