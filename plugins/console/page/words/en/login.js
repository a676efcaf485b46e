/** The words of logins and invitations, in English. `../zh/login.js` has them in Chinese. */
export const login = {
  login: {
    title: 'Log in',
    lead: 'Your assets, face checks, chats and API tokens.',
    name: 'Name',
    password: 'Password',
    submit: 'Log in',
    wrong: 'The name or the password is wrong.',
    tooManyAttempts: 'Too many failed attempts. Please wait.',
    wait: (/** @type {number} */ seconds) => `Try again in ${seconds} s`,
    sessionEnded: 'Your session has ended. Please log in again.',
    loggedOutElsewhere: 'You logged out in another tab.',
    hint: 'The operator of this server creates the accounts.',
  },
  invitation: {
    title: 'Invitation',
    welcome: (/** @type {string} */ name) => `Welcome, ${name}`,
    setPassword: 'Choose the password with which you will log in.',
    logInElsewhere: 'Log in to accept the invitation.',
    password: 'New password',
    rules: 'At least 12 characters; or 8 of three kinds: lower case, upper case, digits, others. Not your name.',
    weak: 'Please choose another password: it does not follow the rules.',
    submit: 'Set the password',
    ended: 'This invitation is not valid any more. Please ask for a new one, or log in.',
  },
}
