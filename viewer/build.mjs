#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Builds the page without its data: one HTML file with style and script inside, and @DATA@ where the program puts the
// report (src/report/html.cpp).
//
//   node build.mjs OUT.html            the page
//   node build.mjs --tests FOLDER      the unit tests as JavaScript, for node --test
import { build } from "esbuild";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
// Browsers of 2022 and later; all text ASCII, whatever encoding a tool guesses.
const common = { bundle: true, charset: "ascii", logLevel: "warning", absWorkingDir: here, legalComments: "none" };

// The texts that the licences of the bundled packages ask for.
async function licences() {
  const files = ["echarts/NOTICE", "echarts/LICENSE", "zrender/LICENSE", "tslib/LICENSE.txt"];
  const texts = await Promise.all(files.map((name) => readFile(path.join(here, "node_modules", name), "utf8")));
  return texts.map((text, i) => `---- ${files[i]} ----\n\n${text.trim()}`).join("\n\n");
}

async function page(target) {
  const script = await build({
    ...common,
    entryPoints: ["src/main.ts"],
    write: false,
    minify: true,
    format: "iife",
    target: ["chrome100", "firefox100", "safari15.4"],
  });
  const style = await build({ ...common, entryPoints: ["src/style.css"], write: false, minify: true, target: ["chrome100", "firefox100", "safari15.4"] });
  const text = { STYLE: style.outputFiles[0].text.trim(), SCRIPT: script.outputFiles[0].text.trim(), LICENCES: await licences() };
  for (const [name, part] of Object.entries(text)) {
    // Either would end or hide the element that the text stands in.
    if (/<\/(script|style)|<!--/i.test(part)) throw new Error(`${name} contains a tag that ends its element`);
  }
  const frame = await readFile(path.join(here, "src/page.html"), "utf8");
  const html = frame.replace(/@(STYLE|SCRIPT|LICENCES)@/g, (_, name) => text[name]);
  if (html.split("@DATA@").length !== 2) throw new Error("the page must hold @DATA@ once");
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, html);
}

async function tests(folder) {
  const names = (await readdir(path.join(here, "test"))).filter((name) => name.endsWith("_test.ts"));
  await build({
    ...common,
    entryPoints: names.map((name) => `test/${name}`),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    format: "esm",
    platform: "node",
    target: "node18",
    sourcemap: "inline",
  });
}

const [first, second] = process.argv.slice(2);
if (first === "--tests" && second !== undefined) await tests(path.resolve(second));
else if (first !== undefined && second === undefined) await page(path.resolve(first));
else {
  console.error("usage: node build.mjs OUT.html | --tests FOLDER");
  process.exit(2);
}
