import type { Queryable } from "../../platform/db.ts";

/**
 * How failed tries of one kind are slowed.
 *
 * Shape: the first `free` tries cost no wait; from then on each try doubles the wait, up to the longest.
 */
export type BrakeKind = { free: number; firstWaitSeconds: number; longestWaitSeconds: number; forgetSeconds: number };

/** Somebody at one account from one place: a handful of tries, then slower and slower. */
export const placeBrake: BrakeKind = { free: 5, firstWaitSeconds: 10, longestWaitSeconds: 900, forgetSeconds: 43_200 };

/** One account from many places that it has never been used from. */
export const accountBrake: BrakeKind = {
  free: 20,
  firstWaitSeconds: 30,
  longestWaitSeconds: 900,
  forgetSeconds: 43_200,
};

export type Brake = { key: Buffer; kind: BrakeKind };

/**
 * Counts a try as failed before it is made; a successful one is taken back or cleared afterwards.
 *
 * Shape: null lets the try through, a date says until when to wait; a try that has to wait is not counted.
 */
export async function takeTry(db: Queryable, { key, kind }: Brake, now: Date): Promise<Date | null> {
  const counted = await db.query({
    name: "sign-in-brake-take",
    // No wait is a time long past, never now: tries that queued arrive with older times than those before them.
    text: `INSERT INTO sign_in_brake AS brake (key, failures, wait_until, forget_at)
           VALUES ($1, 1, to_timestamp(0), $2::timestamptz + make_interval(secs => $6))
           ON CONFLICT (key) DO UPDATE SET (failures, wait_until, forget_at) = (
             SELECT failures,
                    CASE WHEN failures < $3 THEN to_timestamp(0) ELSE $2::timestamptz + wait END,
                    CASE WHEN failures = 1 THEN $2::timestamptz + make_interval(secs => $6)
                         WHEN failures < $3 THEN brake.forget_at
                         ELSE $2::timestamptz + wait + make_interval(secs => $6) END
             FROM (SELECT CASE WHEN brake.forget_at > $2 THEN brake.failures + 1 ELSE 1 END AS failures) AS counted,
                  make_interval(secs => least($5, $4 * power(2, least(greatest(failures - $3, 0), 30)))) AS wait)
           WHERE brake.wait_until <= $2
           RETURNING failures`,
    values: [key, now, kind.free, kind.firstWaitSeconds, kind.longestWaitSeconds, kind.forgetSeconds],
  });
  if (counted.rowCount === 1) return null;
  const waiting = await db.query<{ wait_until: Date }>({
    name: "sign-in-brake-wait",
    text: "SELECT wait_until FROM sign_in_brake WHERE key = $1",
    values: [key],
  });
  return waiting.rows[0]?.wait_until ?? now;
}

/** Undoes a try that did not fail, together with the wait it began. */
export async function giveTryBack(db: Queryable, { key }: Brake): Promise<void> {
  await db.query({
    name: "sign-in-brake-give-back",
    text: "UPDATE sign_in_brake SET failures = greatest(failures - 1, 0), wait_until = to_timestamp(0) WHERE key = $1",
    values: [key],
  });
}

export async function releaseBrake(db: Queryable, { key }: Brake): Promise<void> {
  await db.query({ name: "sign-in-brake-release", text: "DELETE FROM sign_in_brake WHERE key = $1", values: [key] });
}
