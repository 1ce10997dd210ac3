/** The actions of the audit log, which `openapi/schemas/AuditLine.yaml` lists. The pages have a text for each. */
export { auditActions, type AuditAction } from "../../generated/openapi/audit-actions.ts";
