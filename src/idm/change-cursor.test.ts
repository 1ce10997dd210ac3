import { expect, test } from "vitest";
import { appAttributes } from "../access/index.ts";
import { readChangeCursor, writeChangeCursor } from "./change-cursor.ts";

const keys = [Buffer.alloc(32, 7)];

test("a cursor keeps its position, also a time in microseconds after a restore, and what the app could read", () => {
  for (const position of ["0", "1", "1790000000000000", String(2n ** 52n - 1n)])
    for (const attributes of [null, [], appAttributes.slice(-1), [...appAttributes]]) {
      const cursor = writeChangeCursor(keys, "app", { position, attributes });
      expect(readChangeCursor(keys, "app", cursor)).toEqual({ position, attributes });
      expect(cursor).toHaveLength(writeChangeCursor(keys, "app", { position: "0", attributes: null }).length);
    }
});
