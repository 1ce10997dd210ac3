// Reads the IDM API at a fixed pace in a thread of its own, so that those who sign in do not delay what it measures.
import { parentPort, workerData } from "node:worker_threads";
import { Agent, request } from "undici";
import { arrive } from "./open-loop.ts";

const { urls, authorization } = workerData as { urls: string[]; authorization: string };
const dispatcher = new Agent({ connections: 64, headersTimeout: 30_000 });

async function read(n: number): Promise<void> {
  const { statusCode, body } = await request(urls[n % urls.length]!, { dispatcher, headers: { authorization } });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a read was answered ${statusCode}`);
}

parentPort!.on("message", (pace: { perSecond: number; seconds: number }) => {
  void arrive(read, pace).then((result) => parentPort!.postMessage(result));
});
