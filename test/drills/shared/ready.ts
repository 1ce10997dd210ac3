import { until } from "./until.ts";

type Asked = { role: string; port: number };

export async function isReady({ port }: { port: number }): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(2000) }).catch(
    () => null,
  );
  await response?.body?.cancel();
  return response?.status === 200;
}

export async function untilReady(processes: readonly Asked[]): Promise<void> {
  for (const asked of processes) await until(`${asked.role} ${asked.port} is ready`, () => isReady(asked));
}
