import type { Request, Response } from "express";
import type { AdminClient, AdminSchemas, InnerCaller, OperationId, Permissions } from "../../admin/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Locale, Translate } from "../../platform/pages/index.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import type { Refused } from "./refused.ts";
import type { Typed } from "./form.ts";
import type { Upload } from "./upload.ts";
import type { Times } from "./zone.ts";

/** Somebody who is signed in with a browser. */
export type Visitor = {
  personId: PersonId;
  sessionUid: string;
  /** Whether the session was made with a second factor. */
  hasSecondFactor: boolean;
  /** Whether pages of the staff ask for one that is missing. */
  needsSecondFactor: boolean;
};

export type FrameDeps = {
  clock: Clock;
  /** For the tokens of forms. */
  keys: EncryptionKeys;
  findVisitor(req: Request, res: Response): Promise<Visitor | null>;
  clientFor(caller: InnerCaller): AdminClient;
};

export type Me = AdminSchemas["Me"];

/** A request for a page by somebody who is signed in. */
export type PageRequest = {
  req: Request;
  res: Response;
  visitor: Visitor;
  /** Who they are and which roles they hold at this moment. */
  me: Me;
  permissions: Permissions;
  /** Whether they may call an operation of the admin API: at the school of the address, if it names one. */
  may(operation: OperationId): boolean;
  /** The school that the address names. */
  school: { id: string; name: string } | null;
  /** The admin API, called as this person. */
  api: AdminClient;
  t: Translate;
  locale: Locale;
  times: Times;
  now: Date;
  /** A part of the path, as `:personId`. */
  param(name: string): string;
  /** The first value in the query; "" where there is none. */
  query(name: string): string;
  /** Makes what somebody typed fit to stand in an address, where nobody else can read it. */
  hide(text: string): string;
  /** What was hidden for this person; "" for everything else. */
  reveal(hidden: string): string;
  /** What was typed into the form that is answered; of a page that is only shown: nothing. */
  typed: Typed;
  /** The first value of a field of that form, without spaces around it. */
  field(name: string): string;
  /** What makes a form that is sent twice count once: for `Idempotency-Key`. */
  idempotencyKey: string;
  /** The file that came with the form; null where none was chosen. */
  upload: Upload | null;
  /** Why what was just tried was refused; null else. */
  refused: Refused | null;
};

/** Whether somebody works at several schools. */
export const hasManySchools = ({ me, permissions }: Pick<PageRequest, "me" | "permissions">): boolean =>
  permissions.reachesAll || me.schools.length > 1;
