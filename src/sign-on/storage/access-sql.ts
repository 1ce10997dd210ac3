import { raw } from "sql-template-tag";
import * as access from "../../access/index.ts";
import { recordAuditFrom as recordAudit } from "../../events/index.ts";
import { render, type Sql } from "../../platform/sql.ts";

// The SQL of access and events as pieces of SQL: both are written as text.
const textOf = (column: Sql): string => render(column).text;

export const appOf = (clientId: Sql): Sql => raw(access.appOf(textOf(clientId)));
export const recordSignInsFrom = (relation: Sql): Sql => raw(access.recordSignInsFrom(textOf(relation)));
export const recordAuditFrom = (relation: Sql, action: string): Sql => raw(recordAudit(textOf(relation), action));
