import { operationsIn, type Document, type Operation } from "./document.ts";

type StaffOperation = Operation & { "x-roles"?: string[]; "x-self"?: boolean; "x-set-up-link"?: boolean };

/** The module that says of each operation of the admin API its tag and who may call it, from its extensions. */
export function writeStaffOperations(admin: Document): string {
  const operations = Object.values(admin.paths).flatMap((item) => Object.values(operationsIn(item)));
  const lines = (operations as StaffOperation[]).map(({ operationId, tags = [], ...extensions }) => {
    const { "x-roles": roles, "x-self": self = false, "x-set-up-link": setUpLink = false } = extensions;
    if (roles === undefined) throw new Error(`${operationId} has no x-roles, the staff roles that may call it.`);
    return `  ${operationId}: ${JSON.stringify({ tag: tags[0], roles, self, setUpLink })},\n`;
  });
  return `// Made from openapi/admin by npm run generate.\n\nexport const staffOperations = {\n${lines.sort().join("")}} as const;\n`;
}
