"""What `bancada ui` uses of a core while 100 runs are in progress and one page is open.

    bancada ui FOLDER            # prints ADDRESS
    python3 parallel.py FOLDER ADDRESS PID-OF-BANCADA-UI

FOLDER has a study file with `name = "par"`. This program takes the part of `bancada run`: it holds the
lock of the results and writes what a coordinator writes of 100 runs, which thins 10 samples a second
of each to one.
"""
import fcntl, json, os, re, sys, threading, time, urllib.request

SECONDS, RUNS = 30, range(1, 101)
folder, address, pid = sys.argv[1:4]
results = os.path.join(folder, "results", "par")
os.makedirs(results + "/runs", exist_ok=True)
lock = open(results + "/.lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
lock.write("%-11d\n" % os.getpid())
lock.flush()
live = open(results + "/.live.jsonl", "w")


def write(**line):
    live.write(json.dumps(line) + "\n")


def listen(link, got):
    for line in urllib.request.urlopen("http://" + address.split("/")[2] + link + "/live"):
        got[0] += len(line)


def cpu_seconds():
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


write(live=1, process=os.getpid(), part=1)
for i in RUNS:
    levels = [{"factor": "n", "level": i}]
    write(progress="run-begins", run=f"C{i}-r1", place=f"host{i}", projected=None,
          scenario={"number": i, "levels": levels}, count={"done": 0, "total": len(RUNS)})
live.flush()
page = urllib.request.urlopen(address).read().decode()
got = [0]
link = re.search(r'href="([^"]*)">par<', page).group(1)
threading.Thread(target=listen, args=(link, got), daemon=True).start()
time.sleep(3)
begun, used = time.time(), cpu_seconds()
for second in range(1, SECONDS + 1):
    for i in RUNS:
        run, now = f"C{i}-r1", time.time() - begun
        machine = {"cpu_percent": 50.0, "memory_used_bytes": 2542891008, "swap_used_bytes": 0}
        tree = {"processes": 2, "threads": 2, "cpu_percent": 90 + second * i % 10, "memory_bytes": 3289088}
        write(progress="sample", run=run, sample={"seconds": now, "machine": machine, "run": tree, "gpus": []})
        write(progress="event", run=run, event={"event": "step", "step": second, "loss": 1 / second})
        write(progress="tick", run=run, seconds=now, seconds_left=0.0, spent={"amount": "0.1", "currency": "USD"})
    live.flush()
    time.sleep(max(0.0, begun + second - time.time()))
share = (cpu_seconds() - used) / (time.time() - begun) * 100
print(f"{share:.2f} % of a core, {got[0]} bytes of events in {SECONDS} s")
