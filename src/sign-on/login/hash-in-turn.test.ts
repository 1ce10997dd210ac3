import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { hashInTurn } from "./hash-in-turn.ts";

const work = vi.hoisted(() => ({ running: 0, most: 0 }));

vi.mock("./password.ts", () => ({
  async hashPassword(password: string) {
    work.running += 1;
    work.most = Math.max(work.most, work.running);
    await setImmediate();
    work.running -= 1;
    return `hash of ${password}`;
  },
}));

test("passwords of several requests are hashed two at a time, and each gets its hash", async () => {
  const passwords = Array.from({ length: 20 }, (_, index) => `password ${index}`);
  const hashes = await Promise.all(passwords.map(hashInTurn));
  expect(hashes).toEqual(passwords.map((password) => `hash of ${password}`));
  expect(work.most).toBe(2);
});
