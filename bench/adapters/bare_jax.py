"""JAX, by hand: functions over a list of weights, one jitted step with Optax."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

import bare


def rede1(weights, key, x):
    conv1, conv2, dense1, dense2 = weights
    x = pooled(jax.nn.relu(convolved(conv1, x, "SAME")))
    x = pooled(jax.nn.relu(convolved(conv2, x, "SAME")))
    x = x.reshape(len(x), -1)
    return joined(dense2, jax.nn.relu(joined(dense1, x)))


def keras_cifar(weights, key, x):
    conv1, conv2, conv3, conv4, dense1, dense2 = weights
    keys = jax.random.split(key, 3)
    x = jax.nn.relu(convolved(conv1, x, "SAME"))
    x = dropped(keys[0], 0.25, pooled(jax.nn.relu(convolved(conv2, x, "VALID"))))
    x = jax.nn.relu(convolved(conv3, x, "SAME"))
    x = dropped(keys[1], 0.25, pooled(jax.nn.relu(convolved(conv4, x, "VALID"))))
    x = x.reshape(len(x), -1)
    return joined(dense2, dropped(keys[2], 0.5, jax.nn.relu(joined(dense1, x))))


def convolved(weights, x, padding):
    filters, bias = weights
    return jax.lax.conv_general_dilated(x, filters, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias


def pooled(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def joined(weights, x):
    matrix, bias = weights
    return x @ matrix + bias


def dropped(key, rate, x):
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


def main():
    # XLA reads its threads from the surroundings, which compare.py sets.
    work = bare.Work({"rede1": rede1, "keras-cifar": keras_cifar})
    images = np.ascontiguousarray(work.images.transpose(0, 2, 3, 1))
    optimizer = optax.adam(0.001)
    arrays = [jnp.asarray(array) for array in work.weights(channels_last=True)]
    weights = list(zip(arrays[::2], arrays[1::2]))

    def loss_of(weights, key, images, labels):
        answers = work.network(weights, key, images)
        return optax.softmax_cross_entropy_with_integer_labels(answers, labels).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, images, labels):
        weights, memory, key = state
        key, now = jax.random.split(key)
        loss, gradients = jax.value_and_grad(loss_of)(weights, now, images, labels)
        changes, memory = optimizer.update(gradients, memory)
        return (optax.apply_updates(weights, changes), memory, key), loss

    state = (weights, optimizer.init(weights), jax.random.key(1))
    for rows in work.batches():
        state, loss = step(state, images[rows], work.labels[rows])
        work.step_ended(float(loss))
    work.end()


if __name__ == "__main__":
    main()
