/// <reference path="./text-imports.d.ts" />

import htmLibrary from '../../../node_modules/htm/dist/htm.mjs' with { type: 'text' }
import markedLibrary from '../../../node_modules/marked/lib/marked.esm.js' with { type: 'text' }
import preactLibrary from '../../../node_modules/preact/dist/preact.mjs' with { type: 'text' }
import preactHooksLibrary from '../../../node_modules/preact/hooks/dist/hooks.mjs' with { type: 'text' }
// @ts-expect-error: the module has types, and they are not those of its text.
// biome-ignore lint/correctness/useImportExtensions: the file has this name.
import uqrLibrary from '../../../node_modules/uqr/dist/index.mjs' with { type: 'text' }

/** The libraries that the page imports, by file name. */
export const libraryModules: Readonly<Record<string, string>> = {
  'preact.js': preactLibrary,
  'preact-hooks.js': preactHooksLibrary,
  'htm.js': htmLibrary,
  'uqr.js': uqrLibrary,
  'marked.js': markedLibrary,
}

/** Bare module specifiers that the page imports, and the names of the libraries' files. */
export const libraries: Readonly<Record<string, string>> = {
  preact: 'preact.js',
  'preact/hooks': 'preact-hooks.js',
  htm: 'htm.js',
  uqr: 'uqr.js',
  marked: 'marked.js',
}
