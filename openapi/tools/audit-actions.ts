import type { Document } from "./document.ts";

/** The module that lists the actions of the audit log, from `x-extensible-enum` of the admin contract. */
export function writeAuditActions(admin: Document): string {
  const action = admin.components?.schemas?.["AuditLine"]?.properties?.["action"];
  const actions = (action as { "x-extensible-enum"?: string[] } | undefined)?.["x-extensible-enum"];
  if (actions === undefined)
    throw new Error("AuditLine.action has no x-extensible-enum, the actions of the audit log.");
  const list = actions.map((one) => `  ${JSON.stringify(one)},\n`).join("");
  return `// Made from openapi/schemas/AuditLine.yaml by npm run generate.\n\nexport const auditActions = [\n${list}] as const;\n\nexport type AuditAction = (typeof auditActions)[number];\n`;
}
