import type { Request, Response } from "express";
import type { AdminClient, AdminSchemas, InnerCaller, OperationId, PathName, Permissions } from "../../admin/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Locale, Translate } from "../../platform/pages/index.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import type { Refused } from "./refused.ts";
import type { Typed } from "./form.ts";
import type { Upload } from "./upload.ts";
import type { Times } from "./zone.ts";

export type Visitor = {
  personId: PersonId;
  sessionUid: string;
  hasSecondFactor: boolean;
  /** Whether pages of the staff require a second factor that is missing. */
  needsSecondFactor: boolean;
};

export type FrameDeps = {
  clock: Clock;
  keys: EncryptionKeys;
  /** Where people sign in, as sheets and cards say it. */
  signInAddress: string;
  findVisitor(req: Request, res: Response): Promise<Visitor | null>;
  clientFor(caller: InnerCaller): AdminClient;
  /** Stores in the browser that the person has signed out. */
  noteSignedOut(req: Request, res: Response): void;
  /** Ends the session of this browser. Returns where the browser goes. */
  signOut(req: Request, res: Response): Promise<string>;
};

export type Me = AdminSchemas["Me"];

export type PageRequest = {
  req: Request;
  res: Response;
  visitor: Visitor;
  /** The person with their current roles. */
  me: Me;
  permissions: Permissions;
  /** Whether they may call an operation of the admin API: at the school of the address, if it names one. */
  may(operation: OperationId): boolean;
  school: { id: string; name: string } | null;
  signInAddress: string;
  api: AdminClient;
  t: Translate;
  locale: Locale;
  times: Times;
  now: Date;
  /** The parameters of the address, for calls of the admin API. */
  path: Readonly<Record<PathName, string>>;
  param(name: string): string;
  /** The first value of a query parameter; "" if there is none. */
  query(name: string): string;
  /** The page of a list that the address asks for; empty for the first. */
  cursor: { cursor?: string };
  /** Encrypts input for an address that only this reader can read. */
  hide(text: string): string;
  /** Decrypts what `hide` encrypted for this reader; "" for anything else. */
  reveal(hidden: string): string;
  typed: Typed;
  field(name: string): string;
  /** Makes a form that is sent twice count once. */
  idempotencyKey: string;
  upload: Upload | null;
  refused: Refused | null;
  noteSignedOut(): void;
  signOut(): Promise<string>;
};

export const hasManySchools = ({ me, permissions }: Pick<PageRequest, "me" | "permissions">): boolean =>
  permissions.reachesAll || me.schools.length > 1;
