import type { PageRequest } from "../frame/index.ts";

const names = ["action", "person", "app", "from", "until"] as const;

/** The filters as in the address; days are those of the reader. */
type Filters = Partial<Record<(typeof names)[number], string>>;

export const readFilters = ({ query }: PageRequest): Filters =>
  Object.fromEntries(names.flatMap((name) => (query(name) === "" ? [] : [[name, query(name)]])));

export function queryOf({ param, times }: PageRequest, { action, person, app, from, until }: Filters) {
  const [start, end] = [times.startOf(from ?? ""), times.startOf(until ?? "", 1)];
  return {
    school: param("schoolId"),
    ...(action !== undefined && { action }),
    ...(person !== undefined && { person }),
    ...(app !== undefined && { app }),
    ...(start !== null && { from: start }),
    ...(end !== null && { until: end }),
  };
}
