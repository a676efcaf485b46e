import { readFileSync } from 'node:fs'
import { operatingFile } from './fixture.ts'

/** The instructions of the Dockerfile, with continued lines joined. */
export const instructions = readFileSync(operatingFile('Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? []
    return { name, text: text.replace(/\s+/g, ' ') }
  })
/** The text of the last instruction of a name. */
export const last = (name: string) => instructions.findLast((instruction) => instruction.name === name)?.text
