import type { Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { foldText, skeletonOf } from "../../platform/text/likeness.ts";
import { lockName } from "../../platform/database/sql.ts";
import type { ClientId } from "../token.ts";

/** Ignores what readers overlook: case, spaces, punctuation, and the alphabet of letters that look alike. */
export function isSameName(left: string, right: string): boolean {
  const [one, other] = [skeletonOf(left), skeletonOf(right)];
  return one === other && (one !== "" || foldText(left) === foldText(right));
}

/** `serviceName` is what the operator calls the service. Errors: conflict app_name_taken. */
export function refuseOwnName(name: string, serviceName: string): void {
  const skeleton = skeletonOf(name);
  const own = ["Schultor", serviceName].map(skeletonOf).filter((one) => one !== "");
  if (!own.some((one) => skeleton.includes(one))) return;
  throw new AppError("conflict", "app_name_taken", "The name looks like that of this service. Choose another one.");
}

// Otherwise two concurrent registrations could take the same name.
const likenesses = { name: "app.likeness" };

/** `own` are the caller's apps. Errors: conflict app_name_taken. */
export async function refuseTakenName(tx: Transaction, name: string, own: ReadonlySet<ClientId>): Promise<void> {
  await lockName(tx, likenesses);
  const apps = await tx.prisma.app.findMany({ select: { clientId: true, name: true } });
  if (!apps.some((app) => !own.has(app.clientId as ClientId) && isSameName(app.name, name))) return;
  const message = "An app of somebody else has this name. Ask an operator to give it to your app.";
  throw new AppError("conflict", "app_name_taken", message);
}

/** Errors: conflict app_logo_taken. */
export async function refuseTakenLogo(tx: Transaction, clientId: ClientId, own: ReadonlySet<ClientId>): Promise<void> {
  await lockName(tx, likenesses);
  const logo = await tx.prisma.appLogo.findUnique({ where: { clientId }, select: { hash: true } });
  if (logo === null) return;
  const where = { hash: logo.hash, clientId: { notIn: [clientId, ...own] } };
  if ((await tx.prisma.appLogo.count({ where })) === 0) return;
  const message = "An app of somebody else has this logo. Ask an operator to give it to your app.";
  throw new AppError("conflict", "app_logo_taken", message);
}
