import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    setupFiles: ["test/english.ts"],
    include: ["test/**/*.test.{ts,tsx}"],
    // A forgotten ".only" would hide every other test.
    allowOnly: false,
    // A loaded machine is slow: only what hangs fails.
    testTimeout: 60_000,
  },
});
