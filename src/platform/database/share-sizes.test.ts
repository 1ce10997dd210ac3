import { expect, test } from "vitest";
import { leastPoolSize, splitConnections, type Role } from "./share-sizes.ts";

const sum = (sizes: Record<string, number>) => Object.values(sizes).reduce((all, size) => all + size, 0);

test.each(["all", "web", "worker"] satisfies Role[])(
  "the shares of %s add up to the whole, and none shrinks while it grows",
  (role) => {
    let before = splitConnections(leastPoolSize, role);
    for (let total = leastPoolSize; total <= 100; total++) {
      const sizes = splitConnections(total, role);
      expect(sum(sizes)).toBe(total);
      for (const [name, size] of Object.entries(before))
        expect(sizes[name as keyof typeof sizes]).toBeGreaterThanOrEqual(size);
      before = sizes;
    }
  },
);

test("below the least there is no split", () => {
  expect(() => splitConnections(leastPoolSize - 1, "all")).toThrow(`at least ${leastPoolSize}`);
});
