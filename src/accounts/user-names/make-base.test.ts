import { expect, test } from "vitest";
import { makeBase, transliterate, friendlyWords } from "./make-base.ts";

const named = (firstCall: string, last: string, firstFull = firstCall) => ({ firstFull, firstCall, last });

test("a name is written with the letters a to z", () => {
  for (const [name, written] of [
    ["Jörg Müßig-Lüder", "joerg-muessig-lueder"],
    ["Jo\u0308rg", "joerg"],
    ["ÄRGER", "aerger"],
    ["Renée d'Équilly", "renee-dequilly"],
    ["İbrahim Yıldız Çağrı", "ibrahim-yildiz-cagri"],
    ["Łucja Wójcik-Ślązak", "lucja-wojcik-slazak"],
    ["Søren Ærø Åse", "soeren-aeroe-aase"],
    ["Nguyễn Thị Hồng", "nguyen-thi-hong"],
    ["Сергей Щербаков", "sergei-shcherbakov"],
    ["Юлія Їжак", "iuliia-izhak"],
    ["Γιώργος Παπαδόπουλος", "giorgos-papadopoylos"],
    ["محمد", "mhmd"],
    ["أحمد الخطيب", "ahmd-alkhtyb"],
    ["דוד", "dvd"],
    ["Ａnna", "anna"],
    ["Anna 2", "anna"],
    ["王小明", ""],
    ["—", ""],
  ] as const)
    expect(transliterate(name), name).toBe(written);
});

test("each rule makes its own of a name, and of half a name what there is", () => {
  const mia = named("Mia", "von der Heide", "Mia Sophie");
  expect(makeBase("FIRST_DOT_LAST", mia)).toBe("mia.von-der-heide");
  expect(makeBase("ROSTER", mia)).toBe("mia.von-der-heide");
  expect(makeBase("FIRST_INITIAL_LAST", mia)).toBe("m.von-der-heide");
  expect(makeBase("FIRST_LAST_INITIAL", mia)).toBe("mia.v");
  expect(makeBase("FIRST_DOT_LAST", named("Anna-Lena Maria Luise", "Groß"))).toBe("anna-lena.gross");
  expect(makeBase("RANDOM", mia)).toBeNull();
  expect(makeBase("FIRST_LAST_INITIAL", named("明", "Schmidt"))).toBe("schmidt");
  expect(makeBase("FIRST_DOT_LAST", named("明", "王"))).toBeNull();
  expect(makeBase("FIRST_DOT_LAST", null)).toBeNull();
  expect(makeBase("FIRST_DOT_LAST", named("a".repeat(57), "b".repeat(200)))).toBe("a".repeat(57));
});

test("the words are short and plain, and no two are easily taken for each other", () => {
  const isNear = (one: string, other: string) =>
    one.length === other.length && [...one].filter((letter, at) => letter !== other[at]).length < 2;
  expect(friendlyWords.length).toBeGreaterThan(750);
  expect(friendlyWords.filter((word) => !/^[a-z]{4,8}$/.test(word))).toEqual([]);
  const near = friendlyWords.flatMap((one, at) => friendlyWords.slice(at + 1).filter((other) => isNear(one, other)));
  expect(near).toEqual([]);
});
