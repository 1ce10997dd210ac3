import { sql, type Sql } from "../../platform/database/sql.ts";

export type Some<T> = { count: number; first: T[] };

export const shownOfEach = 5;

/** `from` is a FROM clause with its WHERE; `order` says which come first. */
export const someOf = (shape: Sql, from: Sql, order: Sql): Sql => sql`(
  SELECT json_build_object('count', count(*),
    'first', coalesce(json_agg(shown ORDER BY place) FILTER (WHERE place <= ${shownOfEach}), '[]'))
  FROM (SELECT ${shape} AS shown, row_number() OVER (ORDER BY ${order}) AS place FROM ${from}) found)`;

export const mapFirst = <T, U>({ count, first }: Some<T>, show: (one: T) => U) => ({ count, first: first.map(show) });
