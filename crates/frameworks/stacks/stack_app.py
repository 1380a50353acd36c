"""The FastAPI application of a worker: an image comes in, the model's answer goes out."""
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

KINDS = {"image/jpeg": "JPEG", "image/png": "PNG"}
TOP = 5


def application(load):
    """`load(folder)` gives the function that answers: float32 [1, 3, height, width] in, [1, classes] out. It is called
    once in every worker, before the worker takes requests."""
    description = Description.read()

    @asynccontextmanager
    async def lifespan(app):
        app.state.predict = loaded(load)
        yield

    app = FastAPI(lifespan=lifespan, openapi_url=None)

    @app.get("/ping")
    async def ping():
        return Response()

    # Not in a thread: a worker has one core, and an answer at a time is the fastest way to use it.
    @app.post("/invocations")
    async def invocations(request: Request):
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in KINDS:
            raise HTTPException(415, f"the body is `{kind}`: send image/jpeg or image/png")
        pixels = prepared(await request.body(), KINDS[kind], description)
        began = time.perf_counter()
        outputs = app.state.predict(pixels)
        seconds = time.perf_counter() - began
        return JSONResponse(answer(outputs[0], description, seconds))

    return app


def loaded(load):
    try:
        return load(folder())
    except Exception as error:
        print(f"cannot load the model in {folder()}: {error}", file=sys.stderr, flush=True)
        # Gunicorn would start another worker, again and again.
        os.kill(os.getppid(), signal.SIGTERM)
        os._exit(0)


def prepared(body, kind, description):
    """The image as the model wants to see it."""
    try:
        image = Image.open(io.BytesIO(body), formats=[kind]).convert("RGB")
    except UnidentifiedImageError as error:
        raise HTTPException(400, f"the body is not a {kind} image") from error
    # Pillow's readers raise whatever they meet; a body that is no image is never this server's fault.
    except Exception as error:
        raise HTTPException(400, f"the body is a {kind} image that cannot be read: {error}") from error
    if description.crop:
        image = image.crop(middle(image.size, description.width / description.height))
    size = (description.width, description.height)
    if image.size != size:
        image = image.resize(size, Image.Resampling.BILINEAR)
    values = (np.asarray(image, np.float32) - np.float32(description.mean)) / np.float32(description.std)
    return np.ascontiguousarray(values.transpose(2, 0, 1)[None])


def middle(size, ratio):
    """The largest part around the middle that has this ratio of width to height."""
    width, height = min(size[0], size[1] * ratio), min(size[1], size[0] / ratio)
    left, top = (size[0] - width) / 2, (size[1] - height) / 2
    return tuple(round(edge) for edge in (left, top, left + width, top + height))


def answer(values, description, seconds):
    if description.logits:
        values = np.exp(values - values.max())
        values /= values.sum()
    top = np.argsort(-values, kind="stable")[:TOP]
    return {
        "model": description.name,
        "classes": [{"class": description.classes[place], "probability": float(values[place])} for place in top],
        "probabilities": values.tolist(),
        "prediction_ms": seconds * 1e3,
    }
