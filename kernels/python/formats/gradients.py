"""Stands behind the source of a Model: its child answers with the gradients, too."""


class WithGradients(Model):
    __doc__ = Model.__doc__

    def forward(self, *arguments):
        """The output, and the gradients of the output times the last argument."""
        given, grad_output = list(arguments[:-1]), arguments[-1]
        with torch.enable_grad():
            given = [one.detach().requires_grad_() if is_differentiable(one) else one for one in given]
            output = super().forward(*given)
            wanted = {f"input_{at}": one for at, one in enumerate(given) if is_differentiable(one)}
            wanted.update(self.named_parameters())
            found = torch.autograd.grad(output, list(wanted.values()),
                                        grad_output.reshape(output.shape), allow_unused=True)
        return {"output": output.detach(),
                **{name: one for name, one in zip(wanted, found) if one is not None}}


def is_differentiable(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def with_gradient(given, init):
    """The inputs of the forward pass and the gradient of its output, whose sizes follow from them."""
    given = [one.detach() if isinstance(one, torch.Tensor) else one for one in given]
    with torch.device("meta"), torch.no_grad():
        output = Model(**init)(*(one.to("meta") if isinstance(one, torch.Tensor) else one
                                   for one in given))
    return [*given, torch.randn(output.shape, dtype=output.dtype)]
