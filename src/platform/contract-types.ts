/** A contract object in which every property must be named, optional ones as possibly `undefined`. */
export type Every<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? T[Key] | undefined : T[Key] };

/** `Omit` that compiles only while the type has the key. */
export type Except<T, Key extends keyof T> = Omit<T, Key>;

type OrTime<Value> = Value extends string ? (string extends Value ? Value | Date : Value) : Value;

/** Builds a contract object: without the undefined values, and with times as ISO 8601 in UTC. */
export function present<T extends object>(every: NoInfer<{ [Key in keyof Every<T>]: OrTime<Every<T>[Key]> }>): T {
  const written = Object.entries(every).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [[name, value instanceof Date ? value.toISOString() : value]],
  );
  return Object.fromEntries(written) as T;
}

/** The values of a contract's enum: a missing or unknown one does not compile. */
export const valuesOf = <Value extends string>(values: Readonly<Record<Value, true>>): Value[] =>
  Object.keys(values) as Value[];

export type Same<Contract, Code> = [Contract] extends [Code]
  ? [Code] extends [Contract]
    ? true
    : { onlyInCode: Exclude<Code, Contract> }
  : { onlyInContract: Exclude<Contract, Code> };

type EnumsOf<Schemas> = {
  [
    Name in keyof Schemas as Schemas[Name] extends string ? (string extends Schemas[Name] ? never : Name) : never
  ]: string;
};

type AllAgree<Agreements> = Agreements[keyof Agreements] extends true
  ? true
  : { [Name in keyof Agreements as Agreements[Name] extends true ? never : Name]: Agreements[Name] };

/** `true` if every named enum of a contract has the values that the code knows; otherwise the difference. */
export type EnumsAgree<Schemas, Code extends EnumsOf<Schemas>> = AllAgree<{
  [Name in keyof Code]: Name extends keyof Schemas ? Same<Schemas[Name], Code[Name]> : never;
}>;

/** Parameters that the binding or `changeRecord`, `createRecord` and `readPage` read, whatever the handler does. */
type ReadForAll = "If-None-Match" | "If-Match" | "Idempotency-Key" | "dry-run" | "limit" | "cursor";

/** `true` if `Code` names each operation's own parameters of query and header; otherwise the difference. */
export type ParametersAgree<Operations, Code extends { [Id in keyof Operations]?: string }> = AllAgree<{
  [
    Id in keyof Operations as Operations[Id] extends { responses: { 501: unknown } } ? never : Id
  ]: Operations[Id] extends Described
    ? Same<
        Exclude<
          NamesOf<Operations[Id]["parameters"]["query"]> | NamesOf<Operations[Id]["parameters"]["header"]>,
          ReadForAll
        >,
        Id extends keyof Code ? Code[Id] : never
      >
    : never;
}>;

/** An operation of the generated types. */
export type Described = {
  parameters: { query?: object; path?: object; header?: object };
  requestBody?: object;
  responses: object;
};
type NamesOf<Place> = Place extends object ? keyof Place : never;
