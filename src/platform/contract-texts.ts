import { readFileSync } from "node:fs";

export type TextName<Body> = {
  [Name in keyof Body]-?: string extends NonNullable<Body[Name]> ? Name & string : never;
}[keyof Body];

type Property = { type?: string; enum?: unknown; nullable?: boolean };
type Schema = { properties: Record<string, Property>; required?: string[] };

export function listTexts<Body>(schema: string): { name: TextName<Body>; isRequired: boolean; isNullable: boolean }[] {
  const contract = readFileSync(new URL("../../generated/openapi/admin.json", import.meta.url), "utf8");
  const { schemas } = (JSON.parse(contract) as { components: { schemas: Record<string, Schema> } }).components;
  const { properties, required = [] } = schemas[schema]!;
  return Object.entries(properties)
    .filter(([, property]) => property.type === "string" && property.enum === undefined)
    .map(([name, { nullable: isNullable = false }]) => {
      return { name: name as TextName<Body>, isRequired: required.includes(name), isNullable };
    });
}
