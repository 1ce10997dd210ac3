// A process that starts a child which runs on, and is killed by a test. Arguments: the file for the child's id.
import { makeChildPool } from "../../src/platform/child-process/index.ts";
import type { Asked } from "./child-work.ts";

const run = makeChildPool({ memoryMb: 256 });
const task = { module: new URL("./child-work.ts", import.meta.url), seconds: 600 };
const asked: Asked = { does: "run on", pidFile: process.argv[2]! };
await run<Asked, unknown>(task, asked);
