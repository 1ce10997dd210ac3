import { expect } from "vitest";

/** Waits until a service is ready: on a busy machine a check may take longer than its two seconds, once or twice. */
export async function expectReady(url: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${url}/health/ready`)).status).toBe(200);
}
