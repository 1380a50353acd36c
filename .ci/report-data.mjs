// Made-up measurements for .ci/report: 200 scenarios, 10,000 runs, requests to workers of four memory
// sizes, and a study whose objective is markup. Always the same numbers.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
let state = 5;
const random = () => ((state = (state * 1103515245 + 12345) % 2147483648) / 2147483648);
const noise = (part) => 1 + part * (random() + random() + random() + random() - 2);
const write = (path, text) => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
};

const FACTORS = {
  environment: ["cpu", "gpu"],
  framework: ["mxnet", "pytorch", "tensorflow", "jax", "keras"],
  image: [32, 64],
  network: ["rede1", "rede2"],
  batch: [32, 64, 128, 256, 512],
};
const scenarios = Object.values(FACTORS).reduce((all, levels) => all.flatMap((one) => levels.map((level) => [...one, level])), [[]]);
const seconds = ([environment, framework, image, network, batch]) =>
  (environment === "gpu" ? 10 : 100) * (1 + 0.1 * FACTORS.framework.indexOf(framework)) * (image === 64 ? 3 : 1) * (network === "rede2" ? 1.2 : 1) * (32 / batch) ** 0.2 * noise(0.03);

const training = (name, objective, repetitions, files) => {
  const names = Object.keys(FACTORS);
  for (let file = 0; file < files; file++) {
    const rows = [];
    for (let repetition = 1; repetition <= repetitions / files; repetition++) {
      for (const levels of scenarios) rows.push([...levels, file * (repetitions / files) + repetition, seconds(levels).toFixed(3)].join(","));
    }
    write(`${name}/runs/${file + 1}.csv`, [[...names, "repetition", "seconds"].join(","), ...rows].join("\n") + "\n");
  }
  const factors = names.map((factor) => `${factor} = ${JSON.stringify(FACTORS[factor])}`);
  write(`${name}.toml`, `[study]
name = "${name}"
objective = ${JSON.stringify(objective)}
repetitions = ${repetitions}
[factors]
${factors.join("\n")}
[environments.cpu]
price = "azure/Standard_F4s_v2@eastus"
[environments.gpu]
price = "azure/Standard_NC4as_T4_v3@eastus"
[import]
row = "run"
factors = ${JSON.stringify(names)}
repetition = "repetition"
metrics = { seconds = "train_seconds:s" }
`);
};
training("many", "200 scenarios on two machines", 5, 5);
training("huge", "10,000 runs on two machines", 50, 1);
training("hostile", "<script>throw 1</script><img src=x onerror=alert(1)>", 2, 1);

const PLACES = { m1024: 2.4, m2048: 1.3, m3072: 1.0, always: 0.8 };
const MODELS = { mobilenet: 80, vgg19: 450 };
for (const [place, slow] of Object.entries(PLACES)) {
  for (const [model, milliseconds] of Object.entries(MODELS)) {
    for (let repetition = 1; repetition <= 3; repetition++) {
      const rows = Array.from({ length: 25 }, () => {
        const predict = milliseconds * slow * noise(0.05);
        return `${(predict + 60 * noise(0.1)).toFixed(2)};${predict.toFixed(2)};200`;
      });
      write(`serve/${place}/${model}-r${repetition}.csv`, ["total;predict;answer", ...rows].join("\n") + "\n");
    }
  }
}
const memory = [1024, 2048, 3072].map((size) => `[environments.m${size}]\nprice = "aws/sagemaker-serverless-${size}@us-east-1"\nserverless = { memory = ${size} }\n`);
write("serve.toml", `[study]
name = "serve"
objective = "does more memory make a response cheaper?"
repetitions = 3
[factors]
environment = ${JSON.stringify(Object.keys(PLACES))}
model = ${JSON.stringify(Object.keys(MODELS))}
[workload]
kind = "serve"
${memory.join("")}[environments.always]
price = "sagemaker/ml.m5.xlarge@us-east-1"
[import]
row = "request"
file_pattern = "{environment}/{model}-r{repetition}.csv"
metrics = { total = "latency_seconds:ms", predict = "predict_seconds:ms" }
status = "answer"
`);
