import { expect, test } from 'bun:test'
import { passwordProblem } from '../../plugins/shared/login/password-rules.ts'

test.each(['abcdefghijkl', 'correct horse', 'Abcdefg1', 'ab-cdef1', '密码密码Aa密码', 'ééééÉÉÉ1', '        aA  '])(
  '%j is accepted',
  (password) => {
    expect(passwordProblem(password, 'ann')).toBeUndefined()
  },
)

test.each([
  '',
  'abcdefghijk',
  'Abcdef1',
  'abcdefg1',
  'ABCDEFGH',
  // Seven characters in fourteen UTF-16 units.
  '😀😀😀😀😀aA',
  'a'.repeat(1_025),
  'abcdefghijkl\ud800',
])('%j is not accepted', (password) => {
  expect(passwordProblem(password, 'ann')).toContain('a password has at')
})

test('the name of the user is not accepted, in any case', () => {
  for (const password of ['annabelle-lee', 'Annabelle-Lee', ' ANNABELLE-LEE ', 'ａnnabelle-lee'])
    expect(passwordProblem(password, 'Annabelle-lee')).toContain('must not be the name')
  expect(passwordProblem('annabelle-lee2', 'annabelle-lee')).toBeUndefined()
})
