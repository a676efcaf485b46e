import type { PageTexts } from '../page-texts.ts'
import { adminModules } from './admin.ts'
import { frameModules } from './frame.ts'
import { libraries, libraryModules } from './libraries.ts'
import { screenModules } from './screens.ts'
import { styleSheets } from './styles.ts'
import { wordModules } from './words.ts'

// The modules are imported, not read: a bundler takes imports along, and on Deno they need no permission. Another file
// of the page needs two lines in one of these modules.

/** The modules of the page, and the libraries that they import, by file name. */
const modules: Readonly<Record<string, string>> = {
  ...frameModules,
  ...screenModules,
  ...adminModules,
  ...wordModules,
  ...libraryModules,
}

/** Modules that the browser does not preload, because few visits need them. */
const notPreloaded: ReadonlySet<string> = new Set(['uqr.js', 'marked.js'])

/** The page as its files are. */
export const plainPage: PageTexts = {
  files: { ...modules, 'style.css': styleSheets.join('\n') },
  script: 'app.js',
  styles: 'style.css',
  preloaded: Object.keys(modules).filter((name) => !notPreloaded.has(name) && !name.startsWith('admin/')),
  libraries,
  hashed: false,
}
