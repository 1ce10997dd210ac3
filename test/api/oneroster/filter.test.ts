import fc from "fast-check";
import { expect, test } from "vitest";
import { walks } from "../../support/walks.ts";
import { AppError } from "../../../src/platform/errors.ts";
import { operators, parseFilter, type Condition } from "../../../src/oneroster/filter/parse.ts";

const condition = fc.record<Condition>({
  field: fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,9}(\.[A-Za-z_]{1,9})?$/),
  operator: fc.constantFrom(...operators),
  value: fc.string({ maxLength: 30 }),
});
const space = fc.constantFrom("", " ", "  ");
const filters = fc.array(fc.array(condition, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 });

test("a filter is read as it was written, whatever its values hold", () => {
  fc.assert(
    fc.property(filters, space, (filter, gap) => {
      const write = ({ field, operator, value }: Condition) =>
        `${gap}${field}${gap}${operator}${gap}'${value.replaceAll("'", "''")}'`;
      const text = filter.map((all) => all.map(write).join(" AND ")).join(" or ");
      expect(parseFilter(text)).toEqual(filter);
    }),
    walks(1000),
  );
});

const codeOf = (text: string): string => {
  try {
    parseFilter(text);
    return "read";
  } catch (error) {
    return error instanceof AppError ? error.code : "failed";
  }
};

test("any other text is refused by the standard's code", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      expect(codeOf(text)).toMatch(/^(read|invalid_filter_field)$/);
    }),
    walks(1000),
  );
  const wrong = [
    "",
    "status",
    "status=active",
    "status='a",
    "='a'",
    "status=='a'",
    "status='a' status='b'",
    "(status='a')",
  ];
  expect(wrong.map(codeOf)).toEqual(wrong.map(() => "invalid_filter_field"));
});

test("a filter has at most fifty conditions, and no depth", () => {
  const many = (count: number) => Array.from({ length: count }, () => "a='b'").join(" OR ");
  expect([codeOf(many(50)), codeOf(many(51)), codeOf(many(10_000))]).toEqual([
    "read",
    "invalid_filter_field",
    "invalid_filter_field",
  ]);
  expect(codeOf(`${"(".repeat(10_000)}a='b'`)).toBe("invalid_filter_field");
  expect(codeOf(`a='${"''".repeat(100_000)}`)).toBe("invalid_filter_field");
});
