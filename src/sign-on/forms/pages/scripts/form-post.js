// Posts the form to the app. Without it the person presses the button.
document.querySelector("[data-form-post]").submit();
