import { expect, test } from "vitest";
import type { ClientId } from "../../access/index.ts";
import { limitCalls } from "./app-answers.ts";

test("four calls are made for an app at a time, whatever other apps do", async () => {
  const [app, other] = ["one" as ClientId, "other" as ClientId];
  const ends: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => ends.push(resolve));
  const running = Array.from({ length: 4 }, () => limitCalls(app, wait));
  await expect(limitCalls(app, wait)).rejects.toMatchObject({ kind: "rate_limited", code: "rate_limited" });
  await limitCalls(other, async () => {});
  ends[0]!();
  await running[0];
  await limitCalls(app, async () => {});
  for (const end of ends) end();
  await Promise.all(running);
  await expect(limitCalls(app, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
});
