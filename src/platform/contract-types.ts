/**
 * An object of a contract with every property named: one that the contract adds, optional or not, is missing here and
 * does not compile. What is optional there may be `undefined` here.
 */
export type Every<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? T[Key] | undefined : T[Key] };

/** `Omit` that compiles only while the type has what is left out. */
export type Except<T, Key extends keyof T> = Omit<T, Key>;

/** The object of a contract that these values make, without those that are undefined. */
export function present<T extends object>(every: NoInfer<Every<T>>): T {
  return Object.fromEntries(Object.entries(every).filter(([, value]) => value !== undefined)) as T;
}

/** The values of an enum of a contract: one that is missing or unknown does not compile. */
export const valuesOf = <Value extends string>(values: Readonly<Record<Value, true>>): Value[] =>
  Object.keys(values) as Value[];

/** True where two types are the same, else what only one of them has. */
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

/**
 * Holds the enums of a contract against the types that the code works with: a value, or an enum, that only one side has
 * does not compile.
 *
 * Shape: `Code` has a type for each named enum; the object has `true` for each.
 */
export type EnumsAgree<Schemas, Code extends EnumsOf<Schemas>> = {
  readonly [Name in keyof Code]: Name extends keyof Schemas ? Same<Schemas[Name], Code[Name]> : never;
};

type Described = {
  parameters: { query?: object; path?: object; header?: object };
  responses: object;
};
type FormOf<Op> = Op extends { requestBody: { content: { "application/x-www-form-urlencoded": infer Form } } }
  ? Listed<Form>
  : never;
/** The keys that a schema names, where it allows others too. */
type Listed<Form> = keyof {
  [Key in keyof Form as string extends Key ? never : number extends Key ? never : Key]: true;
};
type NamesOf<Place> = Place extends object ? keyof Place : never;
/** Every read takes this one, whatever its handler does. */
type TakenByAll = "If-None-Match";

/**
 * The parameters and form fields that the code takes, operation by operation: one that a contract adds or drops does
 * not compile.
 *
 * Shape: operations of a document by operationId, but for those that are not offered; header parameters count, but for
 *        `If-None-Match`.
 */
export type Takes<Operations> = {
  [
    Id in keyof Operations as Operations[Id] extends { responses: { 501: unknown } } ? never : Id
  ]: Operations[Id] extends Described
    ? Readonly<
        Record<
          Exclude<
            | NamesOf<Operations[Id]["parameters"]["query"]>
            | NamesOf<Operations[Id]["parameters"]["path"]>
            | NamesOf<Operations[Id]["parameters"]["header"]>
            | FormOf<Operations[Id]>,
            TakenByAll
          >,
          true
        >
      >
    : never;
};
