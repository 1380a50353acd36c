"""The FastAPI application of a worker: receives an image, returns the model's output."""
import io
import os
import signal
import sys
import time
from contextlib import asynccontextmanager

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from PIL import Image, UnidentifiedImageError

from stack_common import Description, folder

# Allowed content types; bodies without one are detected.
PICTURES = {"image/jpeg": ["JPEG"], "image/jpg": ["JPEG"], "image/png": ["PNG"]}
UNSAID = ("", "application/octet-stream", "application/x-www-form-urlencoded", "application/x-image")
PICTURES |= {kind: ["JPEG", "PNG"] for kind in UNSAID}
TENSOR = "application/x-npy"
TOP = 5
ROUNDING = 1e-3
# As in the Open Inference Protocol.
DATATYPES = {"bool": "BOOL", **{f"{sign}int{bits}": f"{sign}int{bits}".upper() for sign in ("", "u")
                               for bits in (8, 16, 32, 64)},
             **{f"float{bits}": f"FP{bits}" for bits in (16, 32, 64)}}


class Model:
    """A loaded model: `predict` takes float32 numbers of `shape` (images first, None where any size will do)
    and the names of outputs, and gives those outputs. `outputs` are all of them, `softmax` is the one that the model is
    known to end in, or None."""

    def __init__(self, predict, shape, outputs, softmax, untrained):
        self.predict, self.shape, self.outputs = predict, shape, outputs
        self.softmax, self.untrained = softmax, untrained


def application(load):
    """`load(folder)` gives the `Model`. It is called once in every worker, before the worker takes requests."""
    description = Description.read()

    @asynccontextmanager
    async def lifespan(app):
        app.state.served = loaded(load, description)
        yield

    app = FastAPI(lifespan=lifespan, openapi_url=None)

    @app.get("/ping")
    async def ping():
        return Response()

    # Not in a thread: a worker has one core, and one request at a time is the fastest way to use it.
    @app.post("/invocations")
    async def invocations(request: Request):
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        served = app.state.served
        values = served.values(await request.body(), kind)
        began = time.perf_counter()
        outputs = served.model.predict(values, served.answered)
        milliseconds = (time.perf_counter() - began) * 1e3
        return JSONResponse(served.answer(outputs, milliseconds),
                            headers={"x-prediction-ms": f"{milliseconds:.3f}"})

    return app


def loaded(load, description):
    try:
        return Served(load(folder()), description)
    except Exception as error:
        print(f"cannot load the model in {folder()}: {error}", file=sys.stderr, flush=True)
        # Gunicorn would restart the worker again and again.
        os.kill(os.getppid(), signal.SIGTERM)
        os._exit(0)


class Served:
    """A model and its description, checked against each other."""

    def __init__(self, model, description):
        self.model, self.description = model, description
        size = description.input or picture_size(model.shape)
        if size is None:
            raise ValueError("its input is not a picture, or has no fixed size: write it in model.json")
        self.channels, self.height, self.width = (size[name] for name in ("channels", "height", "width"))
        self.last = size.get("layout", "nchw") == "nhwc"
        if self.channels not in (1, 3):
            raise ValueError("these stacks serve only grey and colour pictures")
        self.mean, self.std = (spread(values, self.channels) for values in (description.mean, description.std))
        meanings = description.meanings(model.outputs, model.softmax)
        self.answered = list(meanings)
        self.scores = next((name for name in meanings if meanings[name] != "raw"), None)
        self.logits = meanings.get(self.scores) == "logits"
        self.untrained = description.untrained or model.untrained
        if description.classes and self.scores is None:
            raise ValueError('the description names classes, but no output is known to score classes: write "output": '
                             '"logits" or "probabilities" into it')

    def values(self, body, kind):
        """The model's input."""
        if kind == TENSOR:
            return self.tensor(body)
        if kind not in PICTURES:
            raise HTTPException(415, f"the body is `{kind}`: send image/jpeg, image/png or {TENSOR}")
        return self.prepared(picture(body, PICTURES[kind]))

    def tensor(self, body):
        """Taken as it is."""
        try:
            values = np.load(io.BytesIO(body), allow_pickle=False).astype(np.float32)
        except Exception as error:
            raise HTTPException(400, f"the body is not a NumPy array: {error}") from error
        image = (self.height, self.width, self.channels) if self.last else (self.channels, self.height, self.width)
        if values.shape not in (image, (1, *image)):
            raise HTTPException(400, f"the tensor has the shape {list(values.shape)}, but the model needs {[1, *image]}")
        return np.ascontiguousarray(values.reshape(1, *image))

    def prepared(self, image):
        """The picture as the model needs it."""
        image = image.convert("L" if self.channels == 1 else "RGB")
        if self.description.crop:
            image = image.crop(middle(image.size, self.width / self.height))
        if image.size != (self.width, self.height):
            image = image.resize((self.width, self.height), Image.Resampling.BILINEAR)
        pixels = np.asarray(image, np.float32).reshape(self.height, self.width, self.channels)
        values = (pixels - self.mean) / self.std
        return np.ascontiguousarray((values if self.last else values.transpose(2, 0, 1))[None])

    def answer(self, outputs, milliseconds):
        answer = {"model": self.description.name}
        if self.untrained:
            answer["weights"] = "untrained"
        raw = []
        for name, values in zip(self.answered, outputs):
            if name == self.scores:
                answer |= self.scored(values)
            else:
                raw.append({"name": name, "datatype": DATATYPES[values.dtype.name], "shape": list(values.shape),
                            "data": listed(values)})
        if raw:
            answer["outputs"] = raw
        answer["prediction_ms"] = milliseconds
        return answer

    def scored(self, values):
        scores = np.float64(values[0]).reshape(-1)
        if self.logits:
            scores = np.exp(scores - scores.max())
        total = scores.sum()
        # Rounding puts sums of a softmax off by less; sums of independent probabilities are off by more.
        if self.logits or abs(total - 1) < ROUNDING:
            scores /= total
        order = np.argsort(-scores, kind="stable")
        top, others = order[:TOP], order[TOP:]
        scored = {"classes": [{"class": self.name(place), "probability": float(scores[place])} for place in top]}
        if len(others):
            scored["other_classes"] = {"count": len(others), "probability": float(scores[others].sum())}
        return scored | {"probabilities": scores.tolist()}

    def name(self, place):
        classes = self.description.classes
        return classes[place] if place < len(classes) else str(place)


def listed(values):
    """JSON has no NaN or infinity: null."""
    flat = values.reshape(-1)
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        return [number if np.isfinite(number) else None for number in flat.tolist()]
    return flat.tolist()


def picture_size(shape):
    """If all sizes of the model are fixed: channels are the dimension of 1 or 3."""
    if len(shape) != 4 or None in shape[1:]:
        return None
    _, first, second, third = shape
    if first in (1, 3):
        return {"channels": first, "height": second, "width": third}
    if third in (1, 3):
        return {"channels": third, "height": first, "width": second, "layout": "nhwc"}
    return None


def spread(values, channels):
    if len(values) not in (1, channels):
        raise ValueError(f"`mean` or `std` has {len(values)} numbers, but the input has {channels} channels")
    return np.float32(values)


def picture(body, formats):
    kinds = " or ".join(formats)
    try:
        image = Image.open(io.BytesIO(body), formats=formats)
        image.load()
        return image
    except UnidentifiedImageError as error:
        raise HTTPException(400, f"the body is not a {kinds} image") from error
    # Pillow's readers raise many exceptions; a body that is not an image is never this server's fault.
    except Exception as error:
        raise HTTPException(400, f"the body is a {kinds} image that cannot be read: {error}") from error


def middle(size, ratio):
    """The largest part around the middle that has this ratio of width to height."""
    width, height = min(size[0], size[1] * ratio), min(size[1], size[0] / ratio)
    left, top = (size[0] - width) / 2, (size[1] - height) / 2
    return tuple(round(edge) for edge in (left, top, left + width, top + height))
