import { refuseFilter } from "../failure.ts";

export const operators = ["!=", ">=", "<=", "=", ">", "<", "~"] as const;
export type Operator = (typeof operators)[number];

export type Condition = { field: string; operator: Operator; value: string };

/** True if all conditions of at least one list are true. */
export type Filter = readonly (readonly Condition[])[];

const mostConditions = 50;

const condition = /\s*([A-Za-z_][\w.]{0,99})\s*(!=|>=|<=|=|>|<|~)\s*'((?:[^']|'')*)'/y;
const joint = /\s+(AND|OR)\s+/iy;

/**
 * Reads the filter of a list; AND binds more closely than OR.
 *
 * Errors: invalid invalid_filter_field.
 * Source: OneRoster 1.1 section 3.4.3, 1.2 REST binding section 3.4.
 */
export function parseFilter(text: string): Filter {
  const any: Condition[][] = [[]];
  let [at, count] = [0, 0];
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  for (;;) {
    const parts = read(condition);
    if (parts === null)
      throw refuseFilter(`The filter is not a condition such as status='active' at character ${at + 1}.`);
    const [, field, operator, value] = parts;
    any.at(-1)!.push({ field: field!, operator: operator as Operator, value: value!.replaceAll("''", "'") });
    count += 1;
    if (text.slice(at).trim() === "") return any;
    if (count === mostConditions) throw refuseFilter(`The filter has more than ${mostConditions} conditions.`);
    const joined = read(joint);
    if (joined === null) throw refuseFilter(`The filter needs AND or OR between conditions at character ${at + 1}.`);
    if (joined[1]!.toUpperCase() === "OR") any.push([]);
  }
}
