import { readFileSync } from "node:fs";
import { listOperations, type OpenApiDocument, type Schema as DescribedSchema } from "./http/document.ts";

type TextName<Body> = {
  [Name in keyof Body]-?: string extends NonNullable<Body[Name]> ? Name & string : never;
}[keyof Body];

export type PropertySchema = Omit<DescribedSchema, "properties"> & { maxItems?: number; example?: unknown };
type Schema = PropertySchema & {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
};
type Contract = OpenApiDocument & { components: { schemas: Record<string, Schema> } };

let read: Contract | undefined;

const contract = (): Contract =>
  (read ??= JSON.parse(
    readFileSync(new URL("../../generated/openapi/admin.json", import.meta.url), "utf8"),
  ) as Contract);

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolve(contract().components.schemas[schema.$ref.split("/").at(-1)!]!);

export function listTexts<Body>(schema: string): { name: TextName<Body>; isRequired: boolean; isNullable: boolean }[] {
  const { properties = {}, required = [] } = contract().components.schemas[schema]!;
  return Object.entries(properties)
    .filter(([, property]) => property.type === "string" && property.enum === undefined)
    .map(([name, { nullable: isNullable = false }]) => {
      return { name: name as TextName<Body>, isRequired: required.includes(name), isNullable };
    });
}

/** A property of the JSON body of an operation of the admin contract. The pointer leaves out the indices of lists. */
export type BodyProperty = {
  pointer: string;
  schema: PropertySchema;
  items?: PropertySchema;
  /** Whether a form must fill it in. */
  isRequired: boolean;
  /** Whether the body may lack it when it is empty. */
  isOptional: boolean;
};

const known = new Map<string, BodyProperty | null>();

/** Finds a property by its path, such as `purpose/de`, or by its name alone at any depth. */
export function findBodyProperty(operationId: string, path: string): BodyProperty | null {
  const key = `${operationId} ${path}`;
  if (!known.has(key))
    known.set(key, listBodyProperties(operationId).find(({ pointer }) => pointer.endsWith(`/${path}`)) ?? null);
  return known.get(key)!;
}

/** The values of a property that is an enumeration, or a list of such, in the order of the contract. */
export function enumOf<Value extends string>(operationId: string, path: string): readonly Value[] {
  const property = findBodyProperty(operationId, path);
  return (property?.items?.enum ?? property?.schema.enum ?? []) as Value[];
}

/** Lists the properties of a request body, outermost first. */
function listBodyProperties(operationId: string): BodyProperty[] {
  const place = listOperations(contract()).find(({ operation }) => operation.operationId === operationId);
  const schema = place?.operation.requestBody?.content?.["application/json"]?.schema as Schema | undefined;
  if (schema === undefined) return [];
  const all = listProperties(schema, { pointer: "", isRequired: true, isChange: place?.method === "patch" });
  return all.sort((one, other) => depthOf(one) - depthOf(other));
}

const depthOf = ({ pointer }: BodyProperty): number => pointer.split("/").length;

const isNullable = ({ nullable = false, allOf = [] }: Schema): boolean =>
  nullable || allOf.some((part) => isNullable(resolve(part)));

type Parent = { pointer: string; isRequired: boolean; isChange: boolean };

function listProperties(schemaOrRef: Schema, parent: Parent): BodyProperty[] {
  const schema = resolve(schemaOrRef);
  const variants = [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  const parts = [...variants, ...(schema.items === undefined ? [] : [schema.items])];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const { minLength = 0, ...rest } = resolve(property);
    const nullable = isNullable(rest);
    const pointer = `${parent.pointer}/${name}`;
    // The form of a change sends all its fields, so an empty field was emptied and not left out.
    const isGiven = schema.required?.includes(name) === true || (parent.isChange && minLength > 0);
    const isRequired = parent.isRequired && isGiven && !nullable && rest.type !== "array";
    const inside = { ...parent, pointer, isRequired: parent.isChange ? parent.isRequired && !nullable : isRequired };
    const isGroup = rest.properties !== undefined || rest.allOf !== undefined;
    const isOptional = !parent.isChange && schema.required?.includes(name) !== true;
    const items = rest.items && { items: resolve(rest.items) };
    const leaf = { pointer, schema: { ...rest, nullable, minLength }, ...items, isRequired, isOptional };
    return [...(isGroup ? [] : [leaf]), ...listProperties(property, inside)];
  });
  return [...own, ...parts.flatMap((part) => listProperties(part, parent))];
}
