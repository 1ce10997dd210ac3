// What the tests of child processes let run in one. `pidFile` gets its id, so that its end can be seen.
import { writeFileSync } from "node:fs";

export type Asked = {
  does:
    "square" | "throw" | "exit" | "run on" | "fill memory" | "fill buffers" | "keep much memory" | "show environment";
  n?: number;
  pidFile?: string;
};

const large: unknown[] = [];

export default function work({ does, n = 3, pidFile }: Asked): unknown {
  if (pidFile !== undefined) writeFileSync(pidFile, String(process.pid));
  if (does === "throw") throw new RangeError("refused");
  if (does === "exit") process.exit(3);
  if (does === "show environment") return process.env;
  const kept: unknown[] = [];
  const cells: unknown[] = [];
  // An array that grows as one piece is what ends a whole process, whatever the limits of a thread.
  while (does === "fill memory") cells.push(null);
  if (does === "keep much memory") large.push(Buffer.alloc(128 * 2 ** 20, 1));
  while (does === "fill buffers") kept.push(Buffer.alloc(2 ** 20, 1));
  while (does === "run on");
  return n * n;
}
