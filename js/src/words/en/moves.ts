// English texts for the what-ifs of kernels.

export const moveWords = {
  less: (ratio: string) => `${ratio}× less traffic`,
  more: (ratio: string) => `${ratio}× more traffic`,
  faster: (change: string, ratio: string) => `${change} (${ratio}× faster)`,
  slower: (change: string, ratio: string) => `${change} (${ratio}× slower)`,
  still: (time: string) => `still ${time}`,
  unknownTime: "time unknown",
  attainable: (change: string) => `attainable ${change}`,
  atRoof: "reaches its roof",
  all: (change: string) => `all kernels ${change}`,
  whatIf: (parts: string) => `what if: ${parts}`,
  told: "what if",
  pickedUp: (kernel: string, can: { readonly bytes: boolean; readonly time: boolean }, byKeys: boolean) => {
    const ways = [
      ...(can.bytes ? ["left and right change its bytes"] : []),
      ...(can.time ? [can.bytes ? "up and down its time" : "up and down change its time"] : []),
    ];
    return `${kernel} can be moved: ${ways.join(", ")}${byKeys ? ", by 5 %; Enter ends, Escape undoes" : ""}`;
  },
  reset: (kernel: string) => `Remove the what-if of ${kernel}`,
  moved: (count: number) => (count === 1 ? "1 kernel has a what-if" : `${count} kernels have a what-if`),
  back: "Remove",
  resetAll: (count: number) => (count === 1 ? "Remove this what-if" : "Remove all what-ifs"),
} as const;
