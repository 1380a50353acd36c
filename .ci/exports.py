"""Reads what bancada exports with the programs it is exported for. Fails with the first difference."""

import csv
import json
import os
import pathlib
import sys
import time
import urllib.request


def metrics(url):
    """Waits for a run in progress with a sample, and prints what was served then."""
    from prometheus_client.parser import text_string_to_metric_families

    seen = set()
    text = ""
    for _ in range(600):
        try:
            text = urllib.request.urlopen(url).read().decode()
        except OSError:
            # Not there yet, or there no longer.
            if seen:
                break
            time.sleep(0.05)
            continue
        seen |= {family.name for family in text_string_to_metric_families(text)}
        if {"bancada_run_memory_bytes", "bancada_run_loss", "bancada_spent"} <= seen:
            break
        time.sleep(0.05)
    wanted = {"bancada_runs_done", "bancada_runs_planned", "bancada_runs_ended", "bancada_run_in_progress"}
    assert wanted <= seen, seen
    foreign = urllib.request.Request(url, headers={"Host": "example.org"})
    try:
        urllib.request.urlopen(foreign)
        raise SystemExit("another host was answered")
    except OSError:
        pass
    print(text, end="")


def schemas(folder, results, progress, analysis):
    import jsonschema

    def described(schema):
        """The same, but a field that it does not name is an error."""
        if isinstance(schema, list):
            return [described(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        found = {key: described(value) for key, value in schema.items()}
        if isinstance(schema.get("properties"), dict):
            found.setdefault("additionalProperties", False)
        return found

    def validator(name, strict):
        schema = json.loads(pathlib.Path(folder, f"{name}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(described(schema) if strict else schema)

    def check(name, values, strict=True):
        one = validator(name, strict)
        count = 0
        for value in values:
            one.validate(value)
            count += 1
        assert count, name
        # It can fail.
        assert not one.is_valid({"run": 1}), name
        print(f"{name}: {count} checked")

    def lines(path):
        return (json.loads(line) for line in open(path))

    runs = sorted(pathlib.Path(results, "runs").glob("C*"))
    check("run", (json.loads((run / "run.json").read_text()) for run in runs))
    check("event", (event for run in runs for event in lines(run / "events.jsonl")))
    check("progress", lines(progress))
    check("analysis", [json.load(open(analysis))])


def parquet(file, beside):
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(file)
    rows = list(csv.reader(open(beside, newline="")))
    assert table.column_names == rows[0], table.column_names
    assert table.num_rows == len(rows) - 1
    for place, name in enumerate(table.column_names):
        for cell, row in zip(table[name].to_pylist(), rows[1:]):
            text = row[place]
            if cell is None:
                assert text == "", (name, text)
            elif isinstance(cell, bool):
                assert str(cell).lower() == text, (name, cell, text)
            elif isinstance(cell, (int, float)):
                assert float(text) == cell, (name, cell, text)
            elif hasattr(cell, "isoformat"):
                assert cell.isoformat()[:23] == text[:23], (name, cell, text)
            else:
                assert cell == text.removeprefix("'"), (name, cell, text)
    print(f"{file}: {table.num_rows} rows, {table.num_columns} columns")


def bencher(file):
    for name, measures in json.load(open(file)).items():
        assert measures, name
        for measure in measures.values():
            assert set(measure) <= {"value", "lower_value", "upper_value"}, measure
            assert all(isinstance(value, (int, float)) for value in measure.values()), measure


def mlflow(folder):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=pathlib.Path(folder).absolute().as_uri())
    (experiment,) = [e for e in client.search_experiments() if e.name == "exported"]
    runs = client.search_runs([experiment.experiment_id])
    assert len(runs) == 4, runs
    for run in runs:
        assert run.info.status == "FINISHED"
        assert run.data.params["network"] == "lenet5" and run.data.params["batch"] in {"16", "32"}
        assert run.data.metrics["train_seconds"] > 0
        assert run.data.tags["bancada.status"] == "ok"
        assert run.info.end_time >= run.info.start_time
        history = client.get_metric_history(run.info.run_id, "epoch/loss")
        assert [point.step for point in history] == [1, 2], history
        assert len(client.get_metric_history(run.info.run_id, "step/loss")) > 2
        names = {artifact.path for artifact in client.list_artifacts(run.info.run_id)}
        assert {"run.json", "events.jsonl"} <= names, names
    (found,) = client.search_runs([experiment.experiment_id], "params.batch = '16'", max_results=1)
    print(f"{len(runs)} runs, {len(found.data.metrics)} metrics each")


def database(file):
    """What MLflow itself tracks, where nobody says otherwise."""
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{pathlib.Path(file).absolute()}")
    mlflow.set_experiment("demo")
    for batch in (16, 32):
        with mlflow.start_run(run_name=f"it's {batch}"):
            mlflow.log_param("batch", batch)
            for step in range(3):
                mlflow.log_metric("loss", 1 / (step + 1), step=step)
            mlflow.log_metric("total_seconds", 0.25 * batch)
    failed = mlflow.start_run()
    mlflow.log_param("batch", 16)
    mlflow.log_metric("total_seconds", 1)
    mlflow.end_run("FAILED")
    deleted = mlflow.start_run()
    mlflow.log_param("batch", 99)
    mlflow.end_run()
    mlflow.delete_run(deleted.info.run_id)


def imported(file):
    rows = list(csv.DictReader(open(file, newline="")))
    found = [(row["factor_batch"], row["status"], float(row["total_seconds"])) for row in rows]
    assert found == [("16", "ok", 4), ("16", "failed", 1), ("32", "ok", 8)], found
    losses = [row["loss"] for row in rows if row["status"] == "ok"]
    assert all(abs(float(loss) - 1 / 3) < 1e-9 for loss in losses), losses
    print(f"{len(rows)} runs of a database")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
