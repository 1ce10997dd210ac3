// Without a sort where an index has the order; otherwise PostgreSQL sorts anyway.
const ways = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "hashagg", "material", "memoize", "sort"];

// Makes an exactly fitting index cheaper than another by more than the planner's margin, in small tables too.
const costs = {
  random_page_cost: 1,
  cpu_index_tuple_cost: 1,
  cpu_operator_cost: 0.2,
  max_parallel_workers_per_gather: 0,
};

/** For index look-ups (lookup-sql.ts): keeps the planner from scans and joins chosen for a small table. */
export const readSettings = [
  ...ways.map((way) => `SET enable_${way} = off`),
  ...Object.entries(costs).map(([name, value]) => `SET ${name} = ${value}`),
].join("; ");
