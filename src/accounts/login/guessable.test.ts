import { expect, test } from "vitest";
import { findGuessable } from "./guessable.ts";

const names = ["Ada Marie", "Ada", "von Müller-Lüdenscheidt", "Goethe-Gymnasium Weimar", "ada.mueller"];

test("common passwords and words are refused, also with digits around them and as letters", () => {
  const common = `12345678 passwort aaaaaaaa Passwort1! P4ssw0rt! qwertzui asdfghjk abcdefgh 87654321 abcabcabc 17.05.2013
    20130517 hallo123 hallohallo Schule2026 Sommer2025! !Sonnenschein1 schalke04 fussball Fußball1 iloveyou qwertz123
    Frühling24 Gymnasium1 Passwort1234 123456789012 123passwort123 Lehrerin2024! minecraft1 1q2w3e4r passwort-passwort`;
  const passed = common.split(/\s+/).filter((password) => findGuessable(password, []) === null);
  expect(passed).toEqual([]);
});

test("names of the person and the school are refused, however they are written", () => {
  const named = `Goethe2026 goethe-gymnasium GoetheGymnasium1 Ada.Mueller ada12345 adamarie Müller2013 muellerada1 Weimar-Ada!
    Luedenscheidt9 PasswortGoethe Ada.Mueller.2013`;
  const found = named.split(/\s+/).map((password) => [password, findGuessable(password, names)]);
  expect(found.filter(([, fault]) => fault === null)).toEqual([]);
});

test("other passwords are taken, those of the kinds that the service makes as well", () => {
  const good = [
    "Eine Wiese am See",
    "Hund Katze Maus",
    "kdf8w2xq",
    "Tür zum Hof",
    "x8$kQ2!m",
    "rabe-apfel-tor7",
    "d7v66j8vst",
    "ÄÖÜ пароль дом",
  ];
  expect(good.filter((password) => findGuessable(password, names) !== null)).toEqual([]);
});
