import { describe, expect, test } from 'bun:test'
import {
  isEnded,
  statusPathTo,
  type VerificationStatus,
  verificationStatuses,
} from '../../plugins/face-verification/index.ts'

/** "Face verification status" of the document, and two moves more: its life was over, or its callback said no. */
const legal: readonly string[] = [
  'waiting_user callback_received',
  'callback_received resolving',
  'resolving verified',
  'resolving failed',
  'resolving expired',
  'waiting_user expired',
  'waiting_user failed',
]

describe('states move as the document says, and in no other way', () => {
  for (const from of verificationStatuses) {
    for (const to of verificationStatuses) {
      const isLegal = legal.includes(`${from} ${to}`)
      test(`${from} to ${to} is ${isLegal ? 'a' : 'no'} move`, () => {
        expect(statusPathTo(from, to)?.length === 2).toBe(isLegal)
      })
    }
  }

  test('every way is made of legal moves', () => {
    for (const from of verificationStatuses) {
      for (const to of verificationStatuses) {
        const way = statusPathTo(from, to)
        for (const [index, status] of (way ?? []).slice(1).entries())
          expect(legal).toContain(`${way?.[index]} ${status}`)
      }
    }
  })

  test('what has ended leads nowhere, and all else leads to every end', () => {
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
