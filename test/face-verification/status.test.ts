import { describe, expect, test } from 'bun:test'
import {
  isEnded,
  statusPathTo,
  type VerificationStatus,
  verificationStatuses,
} from '../../plugins/face-verification/index.ts'

/** The transitions of the interface's state machine, and two of the gateway: `waiting_user` can expire, and fails when the callback reports it. */
const allowed: readonly string[] = [
  'waiting_user callback_received',
  'callback_received resolving',
  'resolving verified',
  'resolving failed',
  'resolving expired',
  'waiting_user expired',
  'waiting_user failed',
]

describe('the state machine has the allowed transitions and no others', () => {
  for (const from of verificationStatuses) {
    for (const to of verificationStatuses) {
      const isAllowed = allowed.includes(`${from} ${to}`)
      test(`${from} to ${to} is ${isAllowed ? '' : 'not '}allowed`, () => {
        expect(statusPathTo(from, to)?.length === 2).toBe(isAllowed)
      })
    }
  }

  test('every path consists of allowed transitions', () => {
    for (const from of verificationStatuses) {
      for (const to of verificationStatuses) {
        const path = statusPathTo(from, to)
        for (const [index, status] of (path ?? []).slice(1).entries())
          expect(allowed).toContain(`${path?.[index]} ${status}`)
      }
    }
  })

  test('a final status leads to no other, and every other status leads to each final one', () => {
    const ends: readonly VerificationStatus[] = ['verified', 'failed', 'expired']
    expect(verificationStatuses.filter(isEnded)).toEqual([...ends])
    for (const end of ends) {
      expect(verificationStatuses.filter((to) => statusPathTo(end, to))).toEqual([])
      expect(verificationStatuses.filter((from) => statusPathTo(from, end))).toEqual([
        'waiting_user',
        'callback_received',
        'resolving',
      ])
    }
  })
})
