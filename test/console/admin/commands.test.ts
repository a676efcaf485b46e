import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { batchCommands } from '../../../src/admin/commands/batches.ts'
import { groupCommands } from '../../../src/admin/commands/groups.ts'
import { importCommands } from '../../../src/admin/commands/imports.ts'
import { reportCommands } from '../../../src/admin/commands/reports.ts'
import { serverCommands } from '../../../src/admin/commands/server.ts'
import { teamCommands } from '../../../src/admin/commands/teams.ts'
import { tokenCommands } from '../../../src/admin/commands/tokens.ts'
import { userCommands } from '../../../src/admin/commands/users.ts'
import { videoCommands } from '../../../src/admin/commands/videos.ts'

const commands = {
  ...{ ...userCommands, ...teamCommands, ...tokenCommands, ...groupCommands },
  ...{ ...batchCommands, ...videoCommands, ...reportCommands, ...importCommands, ...serverCommands },
}

/** The test that does the same as a command in a browser, by a part of its title. */
const tests: Readonly<Record<string, string>> = {
  'user add': 'creates a user with an invitation',
  'user list': 'finds users by a part of the name',
  'user show': 'changes the name, role, team and external ID of a user',
  'user disable': 'disables a user after typing the name',
  'user enable': 'and enables the user again',
  'user password': 'sets a password, logs the user out everywhere',
  'user role': 'changes the name, role, team and external ID of a user',
  'user team': 'changes the name, role, team and external ID of a user',
  'user change': 'changes the name, role, team and external ID of a user',
  'user limits': 'sets limits of a user with a form that explains them',
  'user invite': 'and makes a new invitation',
  'user logout': 'logs the user out everywhere',
  'team add': 'creates a team with limits',
  'team list': 'creates a team with limits',
  'team rename': 'renames it',
  'team limits': 'creates a team with limits',
  'team delete': 'deletes it when it is empty',
  'token add': 'creates a token with scopes, models, an end and limits',
  'token list': 'finds tokens of all users by label, beginning, user, state and last use',
  'token change': 'changes a token',
  'token rotate': 'rotates its secret with an overlap',
  'token revoke': 'revokes it after typing its label',
  'group adopt': 'gives a group to a user',
  'group pending': 'adopts and releases groups whose outcome is unknown',
  'group release': 'adopts and releases groups whose outcome is unknown',
  'batch list': 'sees the batches of all users',
  'batch cancel': 'and cancels what waits',
  'video list': 'sees the videos of all users',
  'video adopt': 'adopts and releases those that run for too long',
  'video release': 'adopts and releases those that run for too long',
  usage: 'sums usage by day, user, team, token and model',
  audit: 'reads the audit trail with filters',
  'audit verify': 'and verifies it, also against an earlier head',
  'import users': 'imports the users of a CSV file',
  upstreams: 'and its upstreams, as they change',
  settings: 'sees the settings in force',
}

const titles = readdirSync(import.meta.dir)
  .filter((name) => name.endsWith('.all.test.ts'))
  .flatMap((name) => [...readFileSync(join(import.meta.dir, name), 'utf8').matchAll(/^ {2}test\('(.+?)',/gm)])
  .map(([, title = '']) => title)

describe('every command of the command line is done in a browser', () => {
  test('by one of the tests', () => {
    expect(Object.keys(tests).sort()).toEqual(Object.keys(commands).sort())
  })

  test('which exists', () => {
    expect(titles.length).toBeGreaterThan(15)
    const missing = Object.entries(tests).filter(([, part]) => !titles.some((title) => title.includes(part)))
    expect(missing).toEqual([])
  })
})
