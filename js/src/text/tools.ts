// The names of tools by the formats of their files.

/** The first part of a format's name, such as "xprof" of "xprof-csv", and the tool. */
const TOOLS: Readonly<Record<string, string>> = {
  advisor: "Intel Advisor",
  carm: "CARM Tool",
  clustercockpit: "ClusterCockpit",
  ert: "ERT",
  google: "Google Benchmark",
  hatchet: "Hatchet",
  likwid: "LIKWID",
  mixbench: "mixbench",
  ncu: "Nsight Compute",
  nsys: "Nsight Systems",
  nvprof: "nvprof",
  onnxruntime: "ONNX Runtime",
  rocprof: "rocprof",
  tensorrt: "TensorRT",
  torch: "PyTorch",
  tracelens: "TraceLens",
  unitrace: "unitrace",
  uprof: "AMD uProf",
  vtune: "VTune",
  xla: "JAX",
  xplane: "XProf",
  xprof: "XProf",
};

/** Returns the tool that wrote a file. Undefined for a table. */
export const toolOf = (format: string) => TOOLS[format.split("-")[0] as string];
