// Without a sort where an index has the order; where none has, PostgreSQL sorts all the same.
const ways = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "hashagg", "material", "memoize", "sort"];

// Of two indexes the one that fits exactly is to be cheaper by more than PostgreSQL's margin, in a table of ten rows
// too.
const costs = {
  random_page_cost: 1,
  cpu_index_tuple_cost: 1,
  cpu_operator_cost: 0.2,
  max_parallel_workers_per_gather: 0,
};

/**
 * Settings of a session that reads records and lists. Their statements are look-ups by index, one after the other
 * (lookup-sql.ts); PostgreSQL may not take a table from end to end instead, or join two of them, because it believes
 * them to be small: nobody may have counted them yet, and a kept plan outlives the day on which they were small.
 */
export const readSettings = [
  ...ways.map((way) => `SET enable_${way} = off`),
  ...Object.entries(costs).map(([name, value]) => `SET ${name} = ${value}`),
].join("; ");
