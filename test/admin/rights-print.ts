import { ownRights, rights } from "../../src/admin/rights.ts";
import { staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";

/** The matrix role × operation as text: one line for each operation, in the order of its name; OWN: of oneself. */
export function printRights(): string {
  const width = Math.max(...Object.keys(rights).map(({ length }) => length));
  const lineOf = ([operation, roles]: [string, readonly StaffRoleName[]]) => {
    const cells = staffRoleNames.map((role) => (roles.includes(role) ? role : "-").padEnd(role.length));
    const own = (ownRights as ReadonlySet<string>).has(operation) ? "OWN" : "-";
    return `${operation.padEnd(width)}  ${cells.join("  ")}  ${own}`;
  };
  const lines = Object.entries(rights).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${lines.map(lineOf).join("\n")}\n`;
}
